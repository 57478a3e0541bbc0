// Has variables: state in code would be shared by all launches.
static int counter = 3;
int* phase0(void) {
  counter += 1;
  return &counter;
}

// Vulkan's loader is opened when it is there; nothing links it.
#define VOLK_IMPLEMENTATION
#include <volk.h>

// Trains a multilayer perceptron or a convolutional network on Fashion-MNIST and reports what that
// cost.
#include <reprise/reprise.h>
#include <sys/resource.h>
#include <xxhash.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

namespace rp = reprise;

namespace {

struct Options {
  std::string data = "/usr/share/datasets/fashion-mnist";
  std::string model = "mlp";
  std::vector<int64_t> hidden = {256, 128};  ///< of the mlp
  int64_t epochs = 10;
  int64_t batch = 64;
  int64_t max_steps = 0;  ///< 0: all of them
  std::string optimizer = "adam";
  double lr = 0;  ///< 0: what suits the optimizer
  double momentum = 0.9;
  uint64_t seed = 0;
  int threads = 0;
  std::string device = "cpu";
  std::string json;
};

class Stopwatch {
 public:
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(Clock::now() - start_).count();
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

struct DataSet {
  rp::Tensor images;  ///< u8 (n, height, width)
  rp::Tensor labels;  ///< u8 (n)
};

constexpr int64_t kClasses = 10;

DataSet read_data(const std::string& directory, const std::string& prefix) {
  const std::string images_path = directory + "/" + prefix + "-images-idx3-ubyte.gz";
  const std::string labels_path = directory + "/" + prefix + "-labels-idx1-ubyte.gz";
  const rp::Tensor images = rp::io::read_idx(images_path, rp::DType::U8, 3);
  const rp::Tensor labels = rp::io::read_idx(labels_path, rp::DType::U8, 1);
  const int64_t rows = images.size(0);
  if (rows == 0 || rows != labels.size(0)) {
    throw rp::IoError(rp::str(labels_path, ": holds ", labels.size(0), " labels for the ", rows,
                              " images of ", images_path));
  }
  for (const uint8_t label : labels.to_vector<uint8_t>()) {
    if (label >= kClasses) {
      throw rp::IoError(
          rp::str(labels_path, ": holds the label ", int{label}, ", expected 0 to 9"));
    }
  }
  return {images, labels};
}

/// From images (n, height, width) to a score of each class.
class Network : public rp::nn::Module {
 public:
  [[nodiscard]] virtual rp::Tensor operator()(const rp::Tensor& images) const = 0;
};

/// Linear layers with relu between them.
class Mlp : public Network {
 public:
  Mlp(int64_t in, const std::vector<int64_t>& hidden, int64_t out) {
    for (const int64_t width : hidden) {
      add_layer(in, width);
      in = width;
    }
    add_layer(in, out);
  }

  [[nodiscard]] rp::Tensor operator()(const rp::Tensor& images) const override {
    rp::Tensor x = rp::nn::Flatten{}(images);
    for (size_t i = 0; i < layers_.size(); ++i) {
      x = (*layers_[i])(x);
      if (i + 1 < layers_.size()) x = rp::relu(x);
    }
    return x;
  }

 private:
  void add_layer(int64_t in, int64_t out) {
    const std::string name = "fc" + std::to_string(layers_.size() + 1);
    layers_.push_back(std::make_unique<rp::nn::Linear>(*this, name, in, out));
  }
  std::vector<std::unique_ptr<rp::nn::Linear>> layers_;
};

/// LeNet's layers with relu and the largest of each window: two convolutions, three linear layers.
class Cnn : public Network {
 public:
  Cnn(int64_t height, int64_t width, int64_t out)
      : fc1_(*this, "fc1", 16 * halved(halved(height) - 4) * halved(halved(width) - 4), 120),
        fc2_(*this, "fc2", 120, 84),
        fc3_(*this, "fc3", 84, out) {}

  [[nodiscard]] rp::Tensor operator()(const rp::Tensor& images) const override {
    rp::Tensor x = pool_(rp::relu(conv1_(rp::unsqueeze(images, 1))));
    x = rp::nn::Flatten{}(pool_(rp::relu(conv2_(x))));
    return fc3_(rp::relu(fc2_(rp::relu(fc1_(x)))));
  }

 private:
  static int64_t halved(int64_t extent) { return extent / 2; }
  rp::nn::Conv2d conv1_{*this, "conv1", 1, 6, 5, {.padding = 2}};
  rp::nn::Conv2d conv2_{*this, "conv2", 6, 16, 5};
  rp::nn::MaxPool2d pool_{2};
  rp::nn::Linear fc1_, fc2_, fc3_;
};

std::unique_ptr<Network> make_network(const Options& options, const rp::Tensor& images) {
  if (options.model == "cnn") {
    return std::make_unique<Cnn>(images.size(1), images.size(2), kClasses);
  }
  return std::make_unique<Mlp>(images.size(1) * images.size(2), options.hidden, kClasses);
}

std::unique_ptr<rp::optim::Optimizer> make_optimizer(const Options& options,
                                                     const std::vector<rp::Tensor>& parameters) {
  if (options.optimizer == "sgd") {
    return std::make_unique<rp::optim::Sgd>(
        parameters, rp::optim::SgdOptions{.lr = options.lr, .momentum = options.momentum});
  }
  if (options.optimizer == "adamw") {
    return std::make_unique<rp::optim::AdamW>(
        parameters, rp::optim::AdamOptions{.lr = options.lr, .weight_decay = 1e-2});
  }
  return std::make_unique<rp::optim::Adam>(parameters, rp::optim::AdamOptions{.lr = options.lr});
}

double accuracy(const Network& net, rp::io::DataLoader& loader) {
  int64_t right = 0;
  for (auto [x, y] : loader) {
    const rp::Tape tape;
    right += rp::sum(rp::argmax(net(x), 1) == y).item<int64_t>();
  }
  return static_cast<double>(right) / static_cast<double>(loader.rows());
}

/// Of the parameters' bytes: equal when two runs trained the same bits.
uint64_t checksum(const std::vector<rp::Tensor>& parameters) {
  XXH3_state_t* state = XXH3_createState();
  XXH3_64bits_reset(state);
  for (const rp::Tensor& parameter : parameters) {
    const std::vector<float> elements = parameter.to_vector<float>();
    XXH3_64bits_update(state, elements.data(), elements.size() * sizeof(float));
  }
  const uint64_t digest = XXH3_64bits_digest(state);
  XXH3_freeState(state);
  return digest;
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double peak_mebibytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

/// What the run is judged by.
struct Report {
  double final_accuracy = 0;
  double data_seconds = 0;
  double first_step_seconds = 0;  ///< from a data set in memory to the first loss
  double total_seconds = 0;
  std::vector<double> step_ms;   ///< record, differentiate, update, compute
  std::vector<double> batch_ms;  ///< gather and normalize
  uint64_t kernels_first = 0;    ///< compiled up to the end of the first steps
  uint64_t kernels_evaluation = 0;
  uint64_t kernels_after = 0;
  uint64_t launches = 0;  ///< of the steps after the first ones
  int64_t steps = 0;
  std::vector<double> epoch_accuracy;
  uint64_t digest = 0;
};

// By then every shape and every state has been seen.
constexpr int64_t kFirstSteps = 3;

Report train(const Options& options) {
  Report report;
  const Stopwatch total;
  rp::set_seed(options.seed);

  const DataSet train_set = read_data(options.data, "train");
  const DataSet test_set = read_data(options.data, "t10k");
  report.data_seconds = total.seconds();

  const Stopwatch since_data;
  // Mean and deviation of the training images' bytes.
  const rp::io::Normalization normalize{.mean = 72.94f, .scale = 1 / 90.02f};
  rp::io::DataLoader loader(
      train_set.images, train_set.labels,
      {.batch = options.batch, .shuffle = true, .seed = options.seed, .normalize = normalize});
  rp::io::DataLoader test_loader(
      test_set.images, test_set.labels,
      {.batch = 500, .shuffle = false, .drop_last = false, .normalize = normalize});
  if (loader.batches() == 0) {
    throw rp::Error(
        rp::str("--batch ", options.batch, " exceeds the ", loader.rows(), " images there are"));
  }

  const std::unique_ptr<Network> network = make_network(options, train_set.images);
  const Network& net = *network;
  const std::vector<rp::Tensor> parameters = net.parameters();
  const auto optimizer = make_optimizer(options, parameters);
  int64_t all_steps = options.epochs * loader.batches();
  if (options.max_steps > 0) all_steps = std::min(all_steps, options.max_steps);
  const rp::optim::CosineSchedule schedule{.peak = options.lr, .total = all_steps};

  for (int64_t epoch = 0; epoch < options.epochs && report.steps < all_steps; ++epoch) {
    rp::io::Progress progress(rp::str("epoch ", epoch + 1, "/", options.epochs), loader.batches());
    double loss_sum = 0;
    int64_t done = 0;
    Stopwatch batch_watch;
    for (auto [x, y] : loader) {
      report.batch_ms.push_back(1e3 * batch_watch.seconds());
      const rp::Stats before = rp::stats();
      const Stopwatch step_watch;
      optimizer->set_lr(schedule(report.steps));
      float loss_value = 0;
      {
        const rp::Tape tape;
        const rp::Tensor loss = rp::cross_entropy(net(x), y);
        optimizer->step(tape.gradient(loss, parameters));
        tape.realize(loss);
        loss_value = loss.item<float>();
      }
      report.step_ms.push_back(1e3 * step_watch.seconds());
      if (report.steps == 0) report.first_step_seconds = since_data.seconds();
      const rp::Stats after = rp::stats();
      if (++report.steps <= kFirstSteps) {
        report.kernels_first = after.kernels_compiled;
      } else {
        report.kernels_after += after.kernels_compiled - before.kernels_compiled;
        report.launches += after.launches - before.launches;
      }
      loss_sum += loss_value;
      ++done;
      if (progress.due()) progress.update(done, rp::str("loss ", loss_sum / double(done)));
      if (report.steps >= all_steps) break;
      batch_watch = Stopwatch();
    }
    const uint64_t before = rp::stats().kernels_compiled;
    report.epoch_accuracy.push_back(accuracy(net, test_loader));
    const uint64_t compiled = rp::stats().kernels_compiled - before;
    (epoch == 0 ? report.kernels_evaluation : report.kernels_after) += compiled;
    char note[96];
    std::snprintf(note, sizeof note, "loss %.4f  test accuracy %.4f", loss_sum / double(done),
                  report.epoch_accuracy.back());
    progress.finish(note);
  }
  report.final_accuracy = report.epoch_accuracy.empty() ? 0 : report.epoch_accuracy.back();
  report.digest = checksum(parameters);
  report.total_seconds = total.seconds();
  return report;
}

double median_after_first(const std::vector<double>& values) {
  const auto skip = std::min<std::ptrdiff_t>(kFirstSteps, std::ssize(values) - 1);
  return values.empty() ? 0 : median({values.begin() + skip, values.end()});
}

/// Nothing when there were no steps but the first ones, which are not counted.
std::optional<double> launches_per_step(const Report& report) {
  const int64_t counted = report.steps - kFirstSteps;
  if (counted <= 0) return std::nullopt;
  return static_cast<double>(report.launches) / static_cast<double>(counted);
}

void print_table(const Report& report) {
  const auto row = [](const char* name, const std::string& value) {
    std::printf("%-28s %s\n", name, value.c_str());
  };
  const auto number = [](const char* format, double value) {
    char text[64];
    std::snprintf(text, sizeof text, format, value);
    return std::string(text);
  };
  std::printf("\n");
  row("test accuracy", number("%.4f", report.final_accuracy));
  row("data read in", number("%.3f s", report.data_seconds));
  row("time to first step", number("%.3f s", report.first_step_seconds));
  row("step, median", number("%.3f ms", median_after_first(report.step_ms)));
  row("batch, median", number("%.3f ms", median_after_first(report.batch_ms)));
  row("kernels compiled",
      rp::str(report.kernels_first + report.kernels_evaluation + report.kernels_after, " (",
              report.kernels_first, " by step ", std::min(kFirstSteps, report.steps), ", ",
              report.kernels_evaluation, " by the first evaluation, ", report.kernels_after,
              " after)"));
  const std::optional<double> launches = launches_per_step(report);
  row("launches per step", launches ? number("%.2f", *launches) : "not counted");
  row("peak memory", number("%.1f MiB", peak_mebibytes()));
  row("total", number("%.1f s", report.total_seconds));
  char digest[24];
  std::snprintf(digest, sizeof digest, "%016llx", static_cast<unsigned long long>(report.digest));
  row("parameters", std::string("xxh3 ") + digest);
}

void write_json(const Options& options, const Report& report) {
  const std::optional<double> launches = launches_per_step(report);
  const nlohmann::ordered_json json = {
      {"options",
       {{"model", options.model},
        {"hidden", options.hidden},
        {"epochs", options.epochs},
        {"batch", options.batch},
        {"optimizer", options.optimizer},
        {"lr", options.lr},
        {"momentum", options.momentum},
        {"max_steps", options.max_steps},
        {"data", options.data},
        {"seed", options.seed},
        {"threads", rp::num_threads()},
        {"device", options.device}}},
      {"accuracy", report.final_accuracy},
      {"epoch_accuracy", report.epoch_accuracy},
      {"data_seconds", report.data_seconds},
      {"first_step_seconds", report.first_step_seconds},
      {"step_ms", median_after_first(report.step_ms)},
      {"batch_ms", median_after_first(report.batch_ms)},
      {"steps", report.steps},
      {"kernels_first_steps", report.kernels_first},
      {"kernels_first_evaluation", report.kernels_evaluation},
      {"kernels_after", report.kernels_after},
      {"launches_per_step",
       launches ? nlohmann::ordered_json(*launches) : nlohmann::ordered_json()},
      {"peak_mib", peak_mebibytes()},
      {"total_seconds", report.total_seconds},
      {"parameters_xxh3", rp::str(std::hex, report.digest)},
  };
  std::ofstream file(options.json);
  file << json.dump(2) << '\n';
  if (!file.flush()) throw rp::Error(rp::str(options.json, ": cannot be written"));
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("Trains a multilayer perceptron or a convolutional network on Fashion-MNIST.");
  app.option_defaults()->always_capture_default();
  const CLI::Range count(int64_t{1}, int64_t{INT32_MAX});
  const CLI::Range count_or_zero(int64_t{0}, int64_t{INT32_MAX});
  // CLI11's own ranges let NaN through, and its unsigned numbers wrap.
  const CLI::Validator seed(
      [](std::string& text) {
        uint64_t value = 0;
        const char* const end = text.data() + text.size();
        const auto [stop, error] = std::from_chars(text.data(), end, value);
        return error == std::errc() && stop == end
                   ? ""
                   : text + " is not a whole number from 0 to 2^64 - 1";
      },
      "UINT");
  const CLI::Validator rate(
      [](std::string& text) {
        double value = 0;
        const bool good = CLI::detail::lexical_cast(text, value) && value >= 0;
        return good && std::isfinite(value) ? "" : text + " is not a finite number >= 0";
      },
      "FLOAT >= 0");
  app.add_option("--data", options.data, "Folder of the gzip'd IDX files")->type_name("DIR");
  app.add_option("--model", options.model)->check(CLI::IsMember({"mlp", "cnn"}));
  app.add_option("--hidden", options.hidden, "Widths of the mlp's hidden layers")
      ->delimiter(',')
      ->check(count);
  app.add_option("--epochs", options.epochs)->check(count);
  app.add_option("--batch", options.batch)->check(count);
  app.add_option("--max-steps", options.max_steps, "Stop early; 0: never")->check(count_or_zero);
  app.add_option("--optimizer", options.optimizer)->check(CLI::IsMember({"sgd", "adam", "adamw"}));
  app.add_option("--lr", options.lr,
                 "Learning rate at the start of the cosine; 0: 1e-2 for sgd, else 1e-3")
      ->check(rate);
  app.add_option("--momentum", options.momentum, "Of sgd")->check(rate);
  app.add_option("--seed", options.seed)->check(seed);
  app.add_option("--threads", options.threads, "0: one per core")->check(count_or_zero);
  app.add_option("--device", options.device, "cpu, vulkan:0, ..")
      ->check([](const std::string& name) -> std::string {
        try {
          static_cast<void>(rp::device(name));
          return {};
        } catch (const rp::DeviceError& error) {
          return error.what();
        }
      });
  app.add_option("--json", options.json, "Also write the results to FILE")->type_name("FILE");
  CLI11_PARSE(app, argc, argv);

  if (options.lr == 0) options.lr = options.optimizer == "sgd" ? 1e-2 : 1e-3;
  try {
    rp::set_num_threads(options.threads);
    rp::set_default_device(rp::device(options.device));
    // Known now rather than after the training.
    if (!options.json.empty() && !std::ofstream(options.json, std::ios::app)) {
      throw rp::Error(rp::str(options.json, ": cannot be written"));
    }
    const Report report = train(options);
    print_table(report);
    if (!options.json.empty()) write_json(options, report);
  } catch (const rp::IoError& error) {
    std::fprintf(stderr,
                 "fashion_mnist: %s\n"
                 "The data set is Debian's package dataset-fashion-mnist; --data names another "
                 "folder with the same files.\n",
                 error.what());
    return 1;
  } catch (const rp::Error& error) {
    std::fprintf(stderr, "fashion_mnist: %s\n", error.what());
    return 1;
  }
  return 0;
}

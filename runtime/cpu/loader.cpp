// Parses, lays out, relocates and maps x86-64 ELF objects, trusting nothing in them.
#include "runtime/cpu/loader.h"

#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "ir/error.h"
#include "ir/log.h"

namespace reprise {
namespace {

constexpr uint64_t kMaxAlignment = 4096;
constexpr uint64_t kMaxImage = uint64_t{1} << 30;  // displacements in code are 32 bits

[[noreturn]] void fail(const std::string& what) {
  throw DeviceError("cannot load code for the CPU: " + what);
}

template <class... Args>
void require(bool condition, const Args&... what) {
  if (!condition) fail(str(what...));
}

/// Reads structures from the bytes at checked offsets; the bytes need not be aligned.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  [[nodiscard]] std::span<const std::byte> range(uint64_t offset, uint64_t size,
                                                 const char* what) const {
    require(offset <= bytes_.size() && size <= bytes_.size() - offset, what, " at ", offset,
            " with ", size, " bytes ends past the object's ", bytes_.size());
    return bytes_.subspan(offset, size);
  }

  template <class T>
  [[nodiscard]] T read(uint64_t offset, const char* what) const {
    T value;
    std::memcpy(&value, range(offset, sizeof value, what).data(), sizeof value);
    return value;
  }

  template <class T>
  [[nodiscard]] std::vector<T> table(uint64_t offset, uint64_t bytes, uint64_t entry_bytes,
                                     const char* what) const {
    require(entry_bytes == sizeof(T) && bytes % sizeof(T) == 0, what, " has entries of ",
            entry_bytes, " bytes, not ", sizeof(T));
    const auto source = range(offset, bytes, what);
    std::vector<T> entries(bytes / sizeof(T));
    if (!entries.empty()) std::memcpy(entries.data(), source.data(), bytes);
    return entries;
  }

 private:
  std::span<const std::byte> bytes_;
};

std::string_view text_at(std::span<const std::byte> strings, uint64_t offset) {
  require(offset < strings.size(), "a name at ", offset, " in a string table of ", strings.size());
  const char* begin = reinterpret_cast<const char*>(strings.data()) + offset;
  const size_t room = strings.size() - offset;
  const void* end = std::memchr(begin, 0, room);
  require(end != nullptr, "a name without an end");
  return {begin, static_cast<size_t>(static_cast<const char*>(end) - begin)};
}

class Loader {
 public:
  explicit Loader(std::span<const std::byte> object) : reader_(object) {}

  LoadedCode load(size_t phases) {
    read_headers();
    read_symbols();
    lay_out();
    map();
    for (const Elf64_Shdr& section : sections_) relocate(section);
    // Not writable any more from here on.
    if (mprotect(mapping_.data(), mapping_.bytes(), PROT_READ | PROT_EXEC) != 0) {
      fail("the system does not allow executable memory");
    }
    if (log_wants("perf")) name_for_profilers();
    std::vector<CpuPhase> entries;
    for (size_t i = 0; i < phases; ++i) entries.push_back(find_phase("phase" + std::to_string(i)));
    return {std::move(mapping_), std::move(entries)};
  }

 private:
  static constexpr uint64_t kNotLoaded = std::numeric_limits<uint64_t>::max();

  void read_headers() {
    const auto header = reader_.read<Elf64_Ehdr>(0, "the header");
    require(std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0, "not an ELF object");
    require(header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_ident[EI_DATA] == ELFDATA2LSB &&
                header.e_type == ET_REL && header.e_machine == EM_X86_64,
            "not a relocatable object for x86-64");
    require(header.e_shnum != 0, "no sections");
    sections_ =
        reader_.table<Elf64_Shdr>(header.e_shoff, uint64_t{header.e_shnum} * header.e_shentsize,
                                  header.e_shentsize, "the section table");
    const Elf64_Shdr& names = section(header.e_shstrndx, "the section names");
    section_names_ = contents(names);
  }

  void read_symbols() {
    for (const Elf64_Shdr& header : sections_) {
      if (header.sh_type != SHT_SYMTAB) continue;
      require(symbols_.empty(), "two symbol tables");
      symbols_ = reader_.table<Elf64_Sym>(header.sh_offset, header.sh_size, header.sh_entsize,
                                          "the symbol table");
      symbol_names_ = contents(section(header.sh_link, "the symbol names"));
    }
  }

  /// Gives each section that code needs a place in one image, the global offset table last.
  void lay_out() {
    places_.assign(sections_.size(), kNotLoaded);
    uint64_t size = 0;
    for (size_t i = 0; i < sections_.size(); ++i) {
      const Elf64_Shdr& header = sections_[i];
      if ((header.sh_flags & SHF_ALLOC) == 0 || header.sh_size == 0) continue;
      const std::string_view name = text_at(section_names_, header.sh_name);
      if (header.sh_type == SHT_X86_64_UNWIND || name == ".eh_frame") continue;  // never unwound
      require((header.sh_flags & SHF_TLS) == 0, "section ", name, " is thread-local");
      require(header.sh_type == SHT_PROGBITS, "section ", name, " has the unexpected type ",
              header.sh_type);
      // Relocated once and constant after is all the writing there may be.
      require((header.sh_flags & SHF_WRITE) == 0 || name.starts_with(".data.rel.ro"), "section ",
              name, " is writable");
      const uint64_t alignment = header.sh_addralign == 0 ? 1 : header.sh_addralign;
      require((alignment & (alignment - 1)) == 0 && alignment <= kMaxAlignment, "section ", name,
              " is aligned to ", alignment);
      (void)contents(header);
      size = (size + alignment - 1) & ~(alignment - 1);
      places_[i] = size;
      size += header.sh_size;
      require(size <= kMaxImage, "more than ", kMaxImage, " bytes");
    }
    got_ = (size + 7) & ~uint64_t{7};
    for (const Elf64_Shdr& header : sections_) got_slots_ += count_got_relocations(header);
    image_bytes_ = got_ + 8 * got_slots_;
    require(image_bytes_ != 0, "no code");
    require(image_bytes_ <= kMaxImage, "more than ", kMaxImage, " bytes");
  }

  void map() {
    const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
    const uint64_t bytes = (image_bytes_ + page - 1) / page * page;
    void* data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED) {
      throw OutOfMemoryError(str("out of memory: ", bytes, " bytes asked for code"));
    }
    mapping_ = CodeMapping(static_cast<std::byte*>(data), bytes);
    for (size_t i = 0; i < sections_.size(); ++i) {
      if (places_[i] == kNotLoaded) continue;
      const auto source = contents(sections_[i]);
      std::memcpy(mapping_.data() + places_[i], source.data(), source.size());
    }
  }

  void relocate(const Elf64_Shdr& header) {
    require(header.sh_type != SHT_REL, "relocations without addends");
    if (header.sh_type != SHT_RELA) return;
    require(header.sh_info < sections_.size(), "relocations of section ", header.sh_info, " of ",
            sections_.size());
    const uint64_t place = places_[header.sh_info];
    if (place == kNotLoaded) return;
    const uint64_t room = sections_[header.sh_info].sh_size;
    for (const Elf64_Rela& entry : relocations(header)) {
      const uint32_t type = ELF64_R_TYPE(entry.r_info);
      if (type == R_X86_64_NONE) continue;
      const bool wide = type == R_X86_64_64 || type == R_X86_64_PC64;
      const uint64_t size = wide ? 8 : 4;
      require(entry.r_offset <= room && size <= room - entry.r_offset, "a relocation at ",
              entry.r_offset, " in a section of ", room, " bytes");
      std::byte* target = mapping_.data() + place + entry.r_offset;
      const auto at = reinterpret_cast<uint64_t>(target);
      const uint64_t symbol = address_of(ELF64_R_SYM(entry.r_info));
      const uint64_t value = symbol + static_cast<uint64_t>(entry.r_addend);
      switch (type) {
        case R_X86_64_64:
          write<uint64_t>(target, value);
          break;
        case R_X86_64_PC64:
          write<uint64_t>(target, value - at);
          break;
        case R_X86_64_PC32:
        case R_X86_64_PLT32:
          write_signed(target, value - at);
          break;
        case R_X86_64_32:
          require(value <= std::numeric_limits<uint32_t>::max(), "an address does not fit 32 bits");
          write<uint32_t>(target, static_cast<uint32_t>(value));
          break;
        case R_X86_64_32S:
          write_signed(target, value);
          break;
        case R_X86_64_GOTPCREL:
        case R_X86_64_GOTPCRELX:
        case R_X86_64_REX_GOTPCRELX: {
          REPRISE_ASSERT(used_slots_ < got_slots_);
          std::byte* slot = mapping_.data() + got_ + 8 * used_slots_++;
          write<uint64_t>(slot, symbol);
          write_signed(target, reinterpret_cast<uint64_t>(slot) +
                                   static_cast<uint64_t>(entry.r_addend) - at);
          break;
        }
        default:
          fail(str("relocation type ", type, " is not supported"));
      }
    }
  }

  [[nodiscard]] uint64_t count_got_relocations(const Elf64_Shdr& header) const {
    if (header.sh_type != SHT_RELA) return 0;
    uint64_t count = 0;
    for (const Elf64_Rela& entry : relocations(header)) {
      const uint32_t type = ELF64_R_TYPE(entry.r_info);
      count +=
          type == R_X86_64_GOTPCREL || type == R_X86_64_GOTPCRELX || type == R_X86_64_REX_GOTPCRELX;
    }
    return count;
  }

  [[nodiscard]] std::vector<Elf64_Rela> relocations(const Elf64_Shdr& header) const {
    return reader_.table<Elf64_Rela>(header.sh_offset, header.sh_size, header.sh_entsize,
                                     "a relocation table");
  }

  [[nodiscard]] uint64_t address_of(uint64_t index) const {
    require(index < symbols_.size(), "symbol ", index, " of ", symbols_.size());
    const Elf64_Sym& symbol = symbols_[index];
    if (symbol.st_shndx == SHN_ABS) return symbol.st_value;
    require(symbol.st_shndx != SHN_UNDEF, "the symbol ", text_at(symbol_names_, symbol.st_name),
            " is not defined in it");
    require(symbol.st_shndx < sections_.size() && places_[symbol.st_shndx] != kNotLoaded,
            "a symbol in section ", symbol.st_shndx, ", which is not loaded");
    require(symbol.st_value <= sections_[symbol.st_shndx].sh_size, "a symbol past its section");
    return reinterpret_cast<uint64_t>(mapping_.data()) + places_[symbol.st_shndx] + symbol.st_value;
  }

  /// Appends the functions to perf-PID.map in the folder for temporary files, where `perf report`
  /// looks for names: "reprise<number of the load>.<function>".
  void name_for_profilers() const {
    static std::mutex mutex;
    static int loads = 0;
    const std::lock_guard lock(mutex);
    const auto folder = std::filesystem::temp_directory_path();
    std::ofstream map(folder / str("perf-", getpid(), ".map"), std::ios::app);
    for (size_t i = 0; i < symbols_.size(); ++i) {
      if (ELF64_ST_TYPE(symbols_[i].st_info) != STT_FUNC) continue;
      map << std::hex << address_of(i) << ' ' << symbols_[i].st_size << std::dec << " reprise"
          << loads << '.' << text_at(symbol_names_, symbols_[i].st_name) << '\n';
    }
    ++loads;
  }

  [[nodiscard]] CpuPhase find_phase(const std::string& name) const {
    for (size_t i = 0; i < symbols_.size(); ++i) {
      const Elf64_Sym& symbol = symbols_[i];
      if (symbol.st_name == 0 || symbol.st_shndx == SHN_UNDEF) continue;
      if (text_at(symbol_names_, symbol.st_name) != name) continue;
      require(symbol.st_shndx < sections_.size() &&
                  (sections_[symbol.st_shndx].sh_flags & SHF_EXECINSTR) != 0 &&
                  symbol.st_value < sections_[symbol.st_shndx].sh_size,
              "the symbol ", name, " is not in code");
      return reinterpret_cast<CpuPhase>(address_of(i));
    }
    fail("it has no function " + name);
  }

  [[nodiscard]] const Elf64_Shdr& section(uint64_t index, const char* what) const {
    require(index < sections_.size(), what, " are in section ", index, " of ", sections_.size());
    return sections_[index];
  }

  [[nodiscard]] std::span<const std::byte> contents(const Elf64_Shdr& header) const {
    return reader_.range(header.sh_offset, header.sh_size, "a section");
  }

  template <class T>
  static void write(std::byte* target, T value) {
    std::memcpy(target, &value, sizeof value);
  }

  static void write_signed(std::byte* target, uint64_t value) {
    const auto wide = static_cast<int64_t>(value);
    require(
        wide >= std::numeric_limits<int32_t>::min() && wide <= std::numeric_limits<int32_t>::max(),
        "a displacement does not fit 32 bits");
    write<int32_t>(target, static_cast<int32_t>(wide));
  }

  Reader reader_;
  std::vector<Elf64_Shdr> sections_;
  std::vector<Elf64_Sym> symbols_;
  std::span<const std::byte> section_names_;
  std::span<const std::byte> symbol_names_;
  std::vector<uint64_t> places_;  ///< of each section in the image
  uint64_t got_ = 0;
  uint64_t got_slots_ = 0;
  uint64_t used_slots_ = 0;
  uint64_t image_bytes_ = 0;
  CodeMapping mapping_;
};

}  // namespace

CodeMapping::~CodeMapping() {
  if (data_ != nullptr) munmap(data_, bytes_);
}

CodeMapping::CodeMapping(CodeMapping&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

CodeMapping& CodeMapping::operator=(CodeMapping&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

LoadedCode load_code(std::span<const std::byte> object, size_t phases) {
  return Loader(object).load(phases);
}

}  // namespace reprise

// DLPack's structures, as its version 0 lays them out in memory.
#pragma once

#include <cstdint>

namespace reprise::python {

enum DlDeviceType : int32_t { kDlCpu = 1 };
enum DlTypeCode : uint8_t {
  kDlInt = 0,
  kDlUInt = 1,
  kDlFloat = 2,
  kDlBfloat = 4,
  kDlComplex = 5,
  kDlBool = 6,
};

struct DlDevice {
  DlDeviceType type;
  int32_t number;
};

struct DlDataType {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
};

struct DlTensor {
  void* data;
  DlDevice device;
  int32_t rank;
  DlDataType type;
  int64_t* extents;
  int64_t* strides;  ///< elements; null: row-major
  uint64_t byte_offset;
};

struct DlManagedTensor {
  DlTensor tensor;
  void* context;
  void (*deleter)(DlManagedTensor*);
};

}  // namespace reprise::python

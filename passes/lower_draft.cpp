// Buffers and parameters of kernels under construction: sharing, ordering, merging.
#include "passes/lower_draft.h"

#include <algorithm>
#include <iterator>

#include "ir/error.h"
#include "passes/index_map.h"

namespace reprise {

namespace {

/// Applies new numbers of buffers and parameters to everything a part accesses.
void renumber(Part& part, const std::vector<BufferId>& buffers,
              const std::vector<uint32_t>& params) {
  for (Stage& stage : part.stages) {
    for (Body* body : {&stage.body, &stage.post}) {
      for (Access& access : body->accesses) access.buffer = buffers[access.buffer.index];
      for (Instr& instr : body->instrs) {
        if (instr.op == ScalarOp::Param) instr.bits = params[instr.bits];
      }
    }
  }
}

}  // namespace

BufferId KernelDraft::buffer(BufferSource source, const Buffer& buffer) {
  for (uint32_t i = 0; i < sources.size(); ++i) {
    if (sources[i] == source) {
      REPRISE_ASSERT(kernel.buffers[i] == buffer);
      return BufferId{i};
    }
  }
  sources.push_back(source);
  kernel.buffers.push_back(buffer);
  return BufferId{static_cast<uint32_t>(sources.size() - 1)};
}

BufferId KernelDraft::scratch(DType dtype, int64_t extent) {
  sources.push_back({BufferSource::Kind::Scratch, static_cast<uint32_t>(sources.size())});
  kernel.buffers.push_back({BufferKind::Scratch, dtype, extent});
  return BufferId{static_cast<uint32_t>(sources.size() - 1)};
}

uint32_t KernelDraft::param(uint32_t index, DType dtype) {
  const auto place = std::find(params.begin(), params.end(), index);
  const auto position = static_cast<uint32_t>(place - params.begin());
  if (place == params.end()) {
    params.push_back(index);
    kernel.params.push_back(dtype);
  }
  return position;
}

void order_buffers(KernelDraft& draft) {
  std::vector<BufferId> renamed(draft.sources.size());
  std::vector<Buffer> buffers;
  std::vector<BufferSource> sources;
  for (const BufferKind kind :
       {BufferKind::Input, BufferKind::Output, BufferKind::Scratch, BufferKind::Local}) {
    for (size_t i = 0; i < draft.sources.size(); ++i) {
      if (draft.kernel.buffers[i].kind != kind) continue;
      renamed[i] = BufferId{static_cast<uint32_t>(buffers.size())};
      buffers.push_back(draft.kernel.buffers[i]);
      sources.push_back(draft.sources[i]);
    }
  }
  draft.kernel.buffers = std::move(buffers);
  draft.sources = std::move(sources);
  std::vector<uint32_t> params(draft.params.size());
  for (size_t i = 0; i < params.size(); ++i) params[i] = static_cast<uint32_t>(i);
  for (Phase& phase : draft.kernel.phases) {
    for (Part& part : phase.parts) renumber(part, renamed, params);
  }
}

bool is_expanding(const KernelDraft& draft) {
  int64_t largest = 0, read = 0;
  for (const Buffer& buffer : draft.kernel.buffers) {
    if (buffer.kind == BufferKind::Output) largest = std::max(largest, buffer.extent);
    if (buffer.kind == BufferKind::Input) read += buffer.extent;
  }
  return largest > read;
}

void remove_unused_buffers(KernelDraft& draft) {
  std::vector<bool> used(draft.sources.size());
  for (Phase& phase : draft.kernel.phases) {
    for (Part& part : phase.parts) {
      for (const Stage& stage : part.stages) {
        for (const Body* body : {&stage.body, &stage.post}) {
          for (const Access& access : body->accesses) used[access.buffer.index] = true;
        }
      }
    }
  }
  std::vector<BufferId> renamed(used.size());
  std::vector<Buffer> buffers;
  std::vector<BufferSource> sources;
  for (size_t i = 0; i < used.size(); ++i) {
    if (!used[i]) continue;
    renamed[i] = BufferId{static_cast<uint32_t>(buffers.size())};
    buffers.push_back(draft.kernel.buffers[i]);
    sources.push_back(draft.sources[i]);
  }
  draft.kernel.buffers = std::move(buffers);
  draft.sources = std::move(sources);
  std::vector<uint32_t> params(draft.params.size());
  for (size_t i = 0; i < params.size(); ++i) params[i] = static_cast<uint32_t>(i);
  for (Phase& phase : draft.kernel.phases) {
    for (Part& part : phase.parts) renumber(part, renamed, params);
  }
}

void adopt_buffers(KernelDraft& into, KernelDraft& from) {
  std::vector<BufferId> buffers;
  for (size_t i = 0; i < from.sources.size(); ++i) {
    const Buffer& buffer = from.kernel.buffers[i];
    const BufferSource source = from.sources[i];
    const bool own =
        source.kind == BufferSource::Kind::Scratch || source.kind == BufferSource::Kind::Local;
    if (own) {  // of `from` alone, whatever its number says
      const auto number = static_cast<uint32_t>(into.sources.size());
      buffers.push_back(BufferId{number});
      into.sources.push_back({source.kind, number});
      into.kernel.buffers.push_back(buffer);
      continue;
    }
    const auto known = std::find(into.sources.begin(), into.sources.end(), source);
    buffers.push_back(BufferId{static_cast<uint32_t>(known - into.sources.begin())});
    if (known == into.sources.end()) {
      into.sources.push_back(source);
      into.kernel.buffers.push_back(buffer);
    } else if (buffer.kind == BufferKind::Output) {
      into.kernel.buffers[buffers.back().index].kind = BufferKind::Output;
    }
  }
  std::vector<uint32_t> params;
  for (size_t i = 0; i < from.params.size(); ++i) {
    params.push_back(into.param(from.params[i], from.kernel.params[i]));
  }
  for (Phase& phase : from.kernel.phases) {
    for (Part& part : phase.parts) renumber(part, buffers, params);
  }
}

KernelDraft merge_drafts(std::vector<KernelDraft> drafts) {
  if (drafts.size() == 1) return std::move(drafts.front());
  KernelDraft merged;
  for (KernelDraft& draft : drafts) {
    adopt_buffers(merged, draft);
    std::vector<Phase>& phases = merged.kernel.phases;
    if (phases.size() < draft.kernel.phases.size()) phases.resize(draft.kernel.phases.size());
    for (size_t p = 0; p < draft.kernel.phases.size(); ++p) {
      std::vector<Part>& parts = draft.kernel.phases[p].parts;
      std::move(parts.begin(), parts.end(), std::back_inserter(phases[p].parts));
    }
  }
  order_buffers(merged);
  return merged;
}

int64_t storage_extent(const Node& node) {
  if (node.type.shape.numel() == 0) return 0;
  const std::vector<int64_t> strides = storage_strides(node);
  int64_t extent = 1;
  for (int i = 0; i < node.type.shape.rank(); ++i) {
    // Negative strides reach below element 0; the runtime turns such inputs into reversed views.
    if (strides[i] < 0 && node.type.shape[i] > 1) {
      throw UnsupportedError(str("an input of type ", node.type, " with stride ", strides[i],
                                 " on axis ", i, " cannot be lowered; slice it backwards instead"));
    }
    extent += (node.type.shape[i] - 1) * strides[i];
  }
  return extent;
}

}  // namespace reprise

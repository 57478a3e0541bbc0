// Everything a program that uses Reprise needs.
#pragma once

#include "frontend/create.h"
#include "frontend/data_loader.h"
#include "frontend/frozen.h"
#include "frontend/idx.h"
#include "frontend/lr_schedule.h"
#include "frontend/nn.h"
#include "frontend/ops.h"
#include "frontend/optim.h"
#include "frontend/progress.h"
#include "frontend/tape.h"
#include "frontend/tensor.h"
#include "ir/error.h"
#include "ir/number.h"
#include "runtime/device.h"

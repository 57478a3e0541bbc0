// All of Reprise, as users include it: <reprise/reprise.h>.
#pragma once

#include "frontend/reprise.h"

// Exports a symbol to the program and its libraries: everything else in an injected library is hidden.
#pragma once

#define LOOPSCOPE_EXPORT __attribute__((visibility("default")))

// What the program, or a library that it loads, finds by name: everything else in an injected library is hidden.
#pragma once

#define LOOPSCOPE_EXPORT __attribute__((visibility("default")))

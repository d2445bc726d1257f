// The kernels for any machine.
#include <cstring>

#include "cpu.h"
#include "lanes_portable.h"
#include "kernel.h"

namespace gnomon {
extern const Level PORTABLE;
const Level PORTABLE = level_of<Portable>("portable", anywhere);
}  // namespace gnomon

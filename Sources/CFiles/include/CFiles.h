// SPDX-License-Identifier: Apache-2.0
#ifndef KALENDS_FILES_H
#define KALENDS_FILES_H

#include <stddef.h>

/// A file of the sources that is part of the program: its name without its folder, and its bytes, which live as long as the
/// program.
struct kalends_file {
    const char *name;
    const unsigned char *bytes;
    size_t count;
};

/// The files by number; after the last one, a file without a name.
struct kalends_file kalends_file_at(int number);

#endif

// SPDX-License-Identifier: Apache-2.0
// A package of ICU's data without an entry, as ICU's own "stubdata" has it. Packages that we use import Foundation, which
// brings ICU and 31 MB of tables for languages and calendars, a third of the program; nothing here asks for them, and
// Scripts/house-rule.py keeps it so. Linked statically, this takes the place of the tables. A toolchain with
// another version of ICU looks for another name and links its tables; Scripts/package.sh then finds the program too large.
// Hidden, because Foundation's shared libraries bring tables of their own.
#include <stdint.h>

struct empty_package {
    uint16_t header_size;
    uint8_t magic[2];
    // UDataInfo of ICU's unicode/udata.h: its size, byte order, character set, size of a UTF-16 unit, format and version.
    uint16_t info_size, reserved_word;
    uint8_t is_big_endian, charset_family, sizeof_uchar, reserved_byte;
    uint8_t data_format[4], format_version[4], data_version[4];
    uint8_t padding[8];
    // The table of contents: how many entries there are, and the first one.
    uint32_t count, reserved;
    const void *entry[2];
};

__attribute__((visibility("hidden"), aligned(16))) const struct empty_package icudt76_dat = {
    .header_size = 32,
    .magic = {0xda, 0x27},
    .info_size = 20,
    .is_big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__,
    .sizeof_uchar = 2,
    .data_format = {'T', 'o', 'C', 'P'},
    .format_version = {1, 0, 0, 0},
};

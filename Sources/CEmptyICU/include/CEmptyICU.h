// SPDX-License-Identifier: Apache-2.0
// Nothing to call: the linker takes the data in CEmptyICU.c.

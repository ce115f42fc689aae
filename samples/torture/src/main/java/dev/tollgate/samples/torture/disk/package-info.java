/** What a disk holds after its power is cut, from a record of what a process asked of it. */
@NullMarked
package dev.tollgate.samples.torture.disk;

import org.jspecify.annotations.NullMarked;

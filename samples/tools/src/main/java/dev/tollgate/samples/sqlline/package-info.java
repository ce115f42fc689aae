/** A SQL shell as a library: runs a script. */
@NullMarked
package dev.tollgate.samples.sqlline;

import org.jspecify.annotations.NullMarked;

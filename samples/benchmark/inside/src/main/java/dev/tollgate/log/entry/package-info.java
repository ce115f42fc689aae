/** Measured from within, because what is measured is not public. */
@NullMarked
package dev.tollgate.log.entry;

import org.jspecify.annotations.NullMarked;

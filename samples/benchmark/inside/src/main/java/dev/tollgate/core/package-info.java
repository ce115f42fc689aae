/** Measured from within, because what is measured is not public. */
@NullMarked
package dev.tollgate.core;

import org.jspecify.annotations.NullMarked;

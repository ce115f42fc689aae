/** Measured from within, because what is measured is not public. */
@NullMarked
package dev.tollgate.store;

import org.jspecify.annotations.NullMarked;

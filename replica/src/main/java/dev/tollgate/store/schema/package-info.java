/** Schema TOLLGATE: the lock functions, the string functions with limits, and the views. */
@NullMarked
package dev.tollgate.store.schema;

import org.jspecify.annotations.NullMarked;

/** Rewrites the classes of H2 while this module is built; not part of its jar. */
@NullMarked
package dev.tollgate.h2.weave;

import org.jspecify.annotations.NullMarked;

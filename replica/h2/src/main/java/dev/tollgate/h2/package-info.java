/**
 * What the classes of H2 call in the place of the Java runtime, so that they compute the same on
 * every node, and show users what they may see.
 */
@NullMarked
package dev.tollgate.h2;

import org.jspecify.annotations.NullMarked;

/** What goes wrong, and in which order. */
@NullMarked
package dev.tollgate.samples.torture.fault;

import org.jspecify.annotations.NullMarked;

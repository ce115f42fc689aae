/** The program: {@code tollgate server}, {@code tollgate sql}, {@code tollgate status}. */
@NullMarked
package dev.tollgate.cli;

import org.jspecify.annotations.NullMarked;

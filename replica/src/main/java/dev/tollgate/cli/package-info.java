/** The program: {@code tollgate server}, {@code tollgate sql}, and the commands of operators. */
@NullMarked
package dev.tollgate.cli;

import org.jspecify.annotations.NullMarked;

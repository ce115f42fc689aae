/** Certificates for tests and first steps, made with the JDK alone. */
@NullMarked
package dev.tollgate.cli.certificates;

import org.jspecify.annotations.NullMarked;

/** Flyway on Tollgate, and on another database under a lock of Tollgate. */
@NullMarked
package dev.tollgate.samples.migrations;

import org.jspecify.annotations.NullMarked;

/**
 * Flyway on Tollgate, and Flyway on other databases under a lock of Tollgate. DESIGN.md of this
 * module has the map.
 */
@NullMarked
package dev.tollgate.flyway;

import org.jspecify.annotations.NullMarked;

/**
 * Liquibase under a lock of Tollgate, on Tollgate and on other databases. DESIGN.md of this module
 * has the map.
 */
@NullMarked
package dev.tollgate.liquibase;

import org.jspecify.annotations.NullMarked;

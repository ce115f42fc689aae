/**
 * Migrations: SQL scripts that run once each, under a lock of Tollgate. DESIGN.md of this module
 * has the map.
 */
@NullMarked
package dev.tollgate.migrations;

import org.jspecify.annotations.NullMarked;

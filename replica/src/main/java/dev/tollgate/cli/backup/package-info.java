/** Backups that are written again and again into a directory, of which the newest are kept. */
@NullMarked
package dev.tollgate.cli.backup;

import org.jspecify.annotations.NullMarked;

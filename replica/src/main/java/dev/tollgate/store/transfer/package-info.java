/** The database written and read as a whole: for snapshots, comparisons, restores and dumps. */
@NullMarked
package dev.tollgate.store.transfer;

import org.jspecify.annotations.NullMarked;

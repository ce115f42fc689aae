/** A command of the operating system that runs for as long as this process holds a lock. */
@NullMarked
package dev.tollgate.cli.lock;

import org.jspecify.annotations.NullMarked;

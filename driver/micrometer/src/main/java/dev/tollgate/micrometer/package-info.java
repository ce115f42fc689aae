/**
 * Metrics of a lock client for Micrometer. {@link dev.tollgate.micrometer.TollgateLockMetrics} is
 * all there is: it reads {@link dev.tollgate.lock.LockClient#counts} when the registry is read, and
 * is told of requests and losses as a {@link dev.tollgate.lock.LockObserver}. Asks no node.
 */
@NullMarked
package dev.tollgate.micrometer;

import org.jspecify.annotations.NullMarked;

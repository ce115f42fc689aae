/**
 * What Spring Boot 3.5 and 4.0 configure by themselves if this jar is on the class path: the driver
 * class of {@code jdbc:tollgate:} URLs, a {@link dev.tollgate.lock.LockClient}, a lock registry for
 * Spring Integration, and a health indicator.
 */
@NullMarked
package dev.tollgate.spring.boot;

import org.jspecify.annotations.NullMarked;

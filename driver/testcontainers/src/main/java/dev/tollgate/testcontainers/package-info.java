/**
 * A node of Tollgate in a container, for tests. {@link
 * dev.tollgate.testcontainers.TollgateContainer} is the container, and {@link
 * dev.tollgate.testcontainers.TollgateContainerProvider} makes one for a URL of {@code
 * jdbc:tc:tollgate:}.
 */
@NullMarked
package dev.tollgate.testcontainers;

import org.jspecify.annotations.NullMarked;

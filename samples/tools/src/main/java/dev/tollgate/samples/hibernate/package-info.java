/** Hibernate's schema tools: create, update and validate the tables of some entities. */
@NullMarked
package dev.tollgate.samples.hibernate;

import org.jspecify.annotations.NullMarked;

/** Whole applications and their frameworks, unchanged, with a node as their database. */
package dev.tollgate.samples.applications;

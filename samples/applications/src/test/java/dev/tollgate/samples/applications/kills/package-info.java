/**
 * Frameworks on three nodes, in client processes of their own, while clients and leaders are
 * killed: nothing is lost, nothing is doubled, and the work of a killed client goes on soon.
 *
 * <p>{@link dev.tollgate.samples.applications.kills.Framework} is what a framework has to say of
 * itself. {@link dev.tollgate.samples.applications.kills.Client} runs one in a process, {@link
 * dev.tollgate.samples.applications.kills.Schedule} says who is killed and when, {@link
 * dev.tollgate.samples.applications.kills.Run} does it, and {@link
 * dev.tollgate.samples.applications.kills.Result} holds the outcome against what was promised.
 */
package dev.tollgate.samples.applications.kills;

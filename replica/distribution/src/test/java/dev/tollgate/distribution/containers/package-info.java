/**
 * Images and manifests in a container engine. The manifests are run there as a kubelet, the
 * controller of StatefulSets and the name server of a cluster would run them. A field of a manifest
 * that nothing here obeys stops the test, so that no part of a manifest is passed over in silence.
 *
 * <p>{@code Fields} reads a manifest. {@code PodTemplate} makes the options of the engine of it,
 * {@code Volumes} the directories that a pod mounts, {@code ClusterDns} the names. {@code Pod} is
 * what a kubelet does with one pod: probes, restarts, the hook and the grace period. {@code
 * StatefulSet} is the controller above the pods. {@code Load} is a client in a container.
 */
package dev.tollgate.distribution.containers;

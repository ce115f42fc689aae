/** What operators get: the archive, the units, the manifests, the image. */
package dev.tollgate.distribution;

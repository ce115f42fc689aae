package dev.tollgate.log.peer;

import java.util.Map;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Where other members serve their admin addresses, as they have said. Nodes send clients there, so
 * nothing but a scheme, a host and a port is taken. Thread-safe.
 */
final class AdminUrls {
  /** An IPv6 address has no zone: that would mean nothing on another host. */
  private static final Pattern URL =
      Pattern.compile("https?://(?:[0-9A-Za-z._-]{1,255}|\\[[0-9A-Fa-f:.]{2,45}]):[0-9]{1,5}");

  private final Map<String, String> urls = new ConcurrentHashMap<>();

  /** True for what a node says to others, and takes from them. */
  static boolean isValid(String url) {
    return URL.matcher(url).matches();
  }

  /**
   * Notes what a node has said with a message.
   *
   * @param member whether the node is a member: anybody may call, under any name
   */
  void note(String nodeId, @Nullable String url, boolean member) {
    if (Objects.equals(urls.get(nodeId), url)) {
      return;
    }
    if (url == null || !member || !isValid(url)) {
      urls.remove(nodeId);
    } else {
      urls.put(nodeId, url);
    }
  }

  SortedMap<String, String> all() {
    return new TreeMap<>(urls);
  }
}

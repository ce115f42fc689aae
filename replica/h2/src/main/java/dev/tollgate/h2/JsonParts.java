package dev.tollgate.h2;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.Iterator;
import java.util.Map;
import org.h2.util.json.JSONArray;
import org.h2.util.json.JSONObject;
import org.h2.util.json.JSONTarget;
import org.h2.util.json.JSONValue;

/** Goes through JSON that was taken apart, with a stack of its own in place of the thread's. */
public final class JsonParts {
  private JsonParts() {}

  /** What is left of an array, whose parts are values, or of an object, whose parts are members. */
  private record Rest(Iterator<?> parts, boolean ofArray) {}

  /** As in {@link JSONValue#addTo(JSONTarget)}, which calls itself for each level. */
  @Replaces(of = "org.h2.util.json.JSONValue")
  public static void addTo(JSONValue value, JSONTarget<?> target) {
    Deque<Rest> open = new ArrayDeque<>();
    begin(value, target, open);
    while (!open.isEmpty()) {
      Meter.step();
      Rest rest = open.getLast();
      if (rest.parts.hasNext()) {
        Object part = rest.parts.next();
        if (part instanceof Map.Entry<?, ?> member) {
          target.member((String) member.getKey());
          part = member.getValue();
        }
        begin((JSONValue) part, target, open);
      } else {
        open.removeLast();
        end(rest, target);
      }
    }
  }

  private static void begin(JSONValue value, JSONTarget<?> target, Deque<Rest> open) {
    if (value instanceof JSONArray array) {
      target.startArray();
      open.addLast(new Rest(Arrays.asList(array.getArray()).iterator(), /* ofArray= */ true));
    } else if (value instanceof JSONObject object) {
      target.startObject();
      open.addLast(new Rest(Arrays.asList(object.getMembers()).iterator(), /* ofArray= */ false));
    } else {
      value.addTo(target);
    }
  }

  private static void end(Rest rest, JSONTarget<?> target) {
    if (rest.ofArray) {
      target.endArray();
    } else {
      target.endObject();
    }
  }
}

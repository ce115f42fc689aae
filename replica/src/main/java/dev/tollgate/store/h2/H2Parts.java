package dev.tollgate.store.h2;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.h2.command.Command;
import org.h2.command.Token;
import org.h2.command.query.Query;
import org.h2.engine.Session;
import org.h2.expression.Expression;
import org.h2.index.QueryExpressionIndex;
import org.h2.table.TableFilter;
import org.jspecify.annotations.Nullable;

/**
 * Finds the parts of an H2 object that belongs to a statement, field by field. No interface of H2
 * leads from a statement to all of its scans and expressions.
 */
public final class H2Parts {
  /** The fields of a class that may hold parts of a statement, found once. */
  private static final ClassValue<Field[]> FIELDS =
      new ClassValue<>() {
        @Override
        protected Field[] computeValue(Class<?> type) {
          return partsOf(type).toArray(new Field[0]);
        }
      };

  private H2Parts() {}

  /** The direct parts of an H2 object that belongs to a statement, without nulls. */
  public static List<Object> fieldsOf(Object part) {
    Field[] fields = FIELDS.get(part.getClass());
    List<Object> values = new ArrayList<>(fields.length);
    for (Field field : fields) {
      try {
        Object value = field.get(part);
        if (value != null) {
          values.add(value);
        }
      } catch (IllegalAccessException e) {
        throw new IllegalStateException("the field was made accessible: " + field, e);
      }
    }
    return values;
  }

  /** True if a part of an expression is a query, however deep it is. */
  public static boolean hasQuery(Expression expression) {
    return within(expression).stream().anyMatch(Query.class::isInstance);
  }

  /** An expression, a query or a list of them, and all parts of statements within it. */
  public static Collection<Object> within(Object root) {
    Set<Object> found = Collections.newSetFromMap(new IdentityHashMap<>());
    Deque<Object> open = new ArrayDeque<>(List.of(root));
    while (!open.isEmpty()) {
      Object part = open.pop();
      if (!found.add(part)) {
        continue;
      }
      if (part instanceof Collection<?> parts) {
        parts.forEach(one -> push(one, open));
      } else if (part instanceof Map<?, ?> parts) {
        parts.values().forEach(one -> push(one, open));
      } else if (part instanceof Object[] parts) {
        for (Object one : parts) {
          push(one, open);
        }
      } else {
        fieldsOf(part).forEach(one -> push(one, open));
      }
    }
    return found;
  }

  private static void push(@Nullable Object part, Deque<Object> open) {
    if (part != null && isPart(part)) {
      open.push(part);
    }
  }

  private static boolean isPart(Object found) {
    String name = found.getClass().getName();
    return found instanceof Expression
        || found instanceof Object[]
        || found instanceof Collection
        || found instanceof Map
        || found instanceof TableFilter
        || found instanceof QueryExpressionIndex
        || (name.startsWith("org.h2.command.")
            && !(found instanceof Command)
            && !(found instanceof Token))
        || name.startsWith("org.h2.expression.");
  }

  private static List<Field> partsOf(Class<?> type) {
    List<Field> fields = new ArrayList<>();
    for (Class<?> level = type; level != null && hasParts(level); level = level.getSuperclass()) {
      for (Field field : level.getDeclaredFields()) {
        if (!Modifier.isStatic(field.getModifiers()) && mayHoldAPart(field.getType())) {
          field.setAccessible(true);
          fields.add(field);
        }
      }
    }
    return fields;
  }

  /** An expression of this store, such as one that meters another, has that other as a part. */
  private static boolean hasParts(Class<?> type) {
    return inH2(type) || Expression.class.isAssignableFrom(type);
  }

  private static boolean inH2(Class<?> type) {
    return type.getName().startsWith("org.h2.");
  }

  private static boolean mayHoldAPart(Class<?> type) {
    if (type.isArray()) {
      return !type.getComponentType().isPrimitive();
    }
    if (Collection.class.isAssignableFrom(type) || Map.class.isAssignableFrom(type)) {
      return true;
    }
    return inH2(type)
        && !type.getName().startsWith("org.h2.value.")
        && !type.getName().startsWith("org.h2.engine.")
        && !Session.class.isAssignableFrom(type);
  }
}

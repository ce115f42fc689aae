package dev.tollgate.h2.weave;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.FieldVisitor;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/**
 * No class of H2, as it is rewritten, has H2's own maximum of digits left. A class of a later H2
 * that begins to use it makes this fail.
 */
class NumberLimitsTest {
  /** Lengths of texts are the maximum and a few characters. */
  private static final int NEAR = 100;

  /** Classes in which the number is something else, or in which nothing reads it. */
  private static final Set<String> OTHERS =
      Set.of(
          "org/h2/command/ParserBase",
          "org/h2/command/query/Optimizer",
          "org/h2/engine/Constants",
          "org/h2/engine/Database",
          "org/h2/mode/PgCatalogTable",
          "org/h2/server/web/WebApp",
          "org/h2/table/TableLink",
          "org/h2/util/DateTimeUtils",
          "org/h2/value/ValueNumeric");

  @Test
  void noClassHasTheMaximumOfH2() throws IOException {
    Set<String> found = new TreeSet<>();
    WovenClasses.visit(
        name -> name.startsWith("org/") && name.endsWith(".class"), new Constants(found));
    assertEquals(new TreeSet<>(OTHERS), found);
  }

  private static final class Constants extends ClassVisitor {
    private final Set<String> found;
    private String type = "";

    Constants(Set<String> found) {
      super(Opcodes.ASM9);
      this.found = found;
    }

    @Override
    public void visit(
        int version,
        int access,
        String name,
        @Nullable String signature,
        @Nullable String superName,
        String @Nullable [] interfaces) {
      type = name;
    }

    @Override
    public @Nullable FieldVisitor visitField(
        int access,
        String name,
        String descriptor,
        @Nullable String signature,
        @Nullable Object value) {
      look(value);
      return null;
    }

    @Override
    public MethodVisitor visitMethod(
        int access,
        String name,
        String descriptor,
        @Nullable String signature,
        String @Nullable [] exceptions) {
      return new MethodVisitor(Opcodes.ASM9) {
        @Override
        public void visitLdcInsn(Object value) {
          look(value);
        }
      };
    }

    private void look(@Nullable Object value) {
      boolean near =
          value instanceof Number number
              && Math.abs(Math.abs(number.doubleValue()) - NumberLimits.OF_H2) <= NEAR;
      if (near || ("" + NumberLimits.OF_H2).equals(value)) {
        found.add(type);
      }
    }
  }
}

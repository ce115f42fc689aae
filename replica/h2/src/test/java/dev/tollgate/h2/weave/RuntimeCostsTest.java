package dev.tollgate.h2.weave;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.NavigableSet;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.Handle;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/**
 * Compares the methods of the Java runtime that counted classes call with a list that says what
 * each of them takes. A call that is new, in a later H2 say, makes this fail.
 */
class RuntimeCostsTest {
  private static final Path COSTS =
      Path.of("src", "test", "resources", "dev", "tollgate", "h2", "runtime-costs.txt");

  /** What has texts, arrays, collections or streams. */
  private static final Pattern SIZED =
      Pattern.compile(
          String.join(
              "|",
              "java/lang/(String|StringBuilder|StringBuffer|CharSequence)",
              "java/util/(Arrays|Collections?|\\w*List|\\w*Map|\\w*Set|\\w*Deque|StringJoiner|Base64\\w*)",
              "java/util/concurrent/\\w*(Map|List|Array)",
              "java/util/(regex|zip)/\\w+",
              "java/text/\\w+",
              "java/security/MessageDigest",
              "javax/crypto/[\\w/]+",
              "java/io/(ByteArray|String|Print|Buffered|Data|Char)\\w+"));

  private static final Pattern LINE = Pattern.compile("(constant|length|sorted|once|refused) \\S+");

  @Test
  void eachMethodHasItsCost() throws IOException {
    NavigableSet<String> known = new TreeSet<>();
    NavigableSet<String> wrong = new TreeSet<>();
    for (String line : Files.readAllLines(COSTS)) {
      if (!line.isBlank() && !line.startsWith("#")) {
        if (!LINE.matcher(line).matches()) {
          wrong.add("no class of cost: " + line);
        }
        known.add(line.substring(line.indexOf(' ') + 1));
      }
    }
    NavigableSet<String> called = called();
    called.stream()
        .filter(method -> !known.contains(method))
        .map("no cost of: "::concat)
        .forEach(wrong::add);
    known.stream()
        .filter(method -> !called.contains(method))
        .map("no call of: "::concat)
        .forEach(wrong::add);
    assertEquals(new TreeSet<String>(), wrong);
  }

  private static NavigableSet<String> called() throws IOException {
    NavigableSet<String> found = new TreeSet<>();
    WovenClasses.visit(
        name -> Weaver.isRewritten(name) && Weaver.isCounted(name), new Calls(found));
    return found;
  }

  private static final class Calls extends ClassVisitor {
    private final NavigableSet<String> found;

    Calls(NavigableSet<String> found) {
      super(Opcodes.ASM9);
      this.found = found;
    }

    @Override
    public MethodVisitor visitMethod(
        int access,
        String method,
        String descriptor,
        @Nullable String signature,
        String @Nullable [] exceptions) {
      return new MethodVisitor(Opcodes.ASM9) {
        @Override
        public void visitMethodInsn(
            int opcode, String owner, String name, String called, boolean isInterface) {
          look(owner, name, called);
        }

        @Override
        public void visitInvokeDynamicInsn(
            String name, String called, Handle bootstrap, Object... arguments) {
          for (Object argument : arguments) {
            if (argument instanceof Handle handle) {
              look(handle.getOwner(), handle.getName(), handle.getDesc());
            }
          }
        }

        private void look(String owner, String name, String called) {
          if (SIZED.matcher(owner).matches()) {
            found.add(owner + "." + name + called);
          }
        }
      };
    }
  }
}

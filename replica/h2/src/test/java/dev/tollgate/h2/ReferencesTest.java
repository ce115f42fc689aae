package dev.tollgate.h2;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.Handle;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;

/**
 * The JVM links a reference to a method when H2 first comes to it. So a reference that cannot be
 * linked would be an error of one statement, years later.
 */
class ReferencesTest {
  private final List<String> wrong = new ArrayList<>();
  private int looked;

  @Test
  void capturedValuesHaveTheTypesOfTheMethod() throws IOException {
    try (Stream<Path> files = Files.walk(Path.of("target", "classes", "org", "h2"))) {
      for (Path file : files.filter(path -> path.toString().endsWith(".class")).toList()) {
        new ClassReader(Files.readAllBytes(file))
            .accept(new Methods(file.getFileName().toString()), ClassReader.SKIP_DEBUG);
      }
    }
    assertEquals(List.of(), wrong);
    assertTrue(looked > 20, "references: " + looked);
  }

  private final class Methods extends ClassVisitor {
    private final String file;

    Methods(String file) {
      super(Opcodes.ASM9);
      this.file = file;
    }

    @Override
    public MethodVisitor visitMethod(
        int access, String name, String descriptor, String signature, String[] exceptions) {
      return new MethodVisitor(Opcodes.ASM9) {
        @Override
        public void visitInvokeDynamicInsn(
            String called, String captured, Handle bootstrap, Object... arguments) {
          if (arguments.length == 3
              && arguments[1] instanceof Handle method
              && method.getTag() == Opcodes.H_INVOKESTATIC) {
            looked++;
            Type[] values = Type.getArgumentTypes(captured);
            Type[] parameters = Type.getArgumentTypes(method.getDesc());
            for (int i = 0; i < values.length; i++) {
              if (!values[i].equals(parameters[i])) {
                wrong.add(file + "." + name + ": " + captured + " for " + method);
              }
            }
          }
        }
      };
    }
  }
}

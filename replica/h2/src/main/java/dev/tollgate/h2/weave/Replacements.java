package dev.tollgate.h2.weave;

import dev.tollgate.h2.OrderedMap;
import dev.tollgate.h2.Reproducible;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.objectweb.asm.AnnotationVisitor;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.Handle;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;

/** What H2's calls and objects are replaced with. */
final class Replacements {
  /** Classes whose methods carry the annotation. */
  private static final List<Class<?>> REPLACING = List.of(Reproducible.class);

  private static final String ANNOTATION = "Ldev/tollgate/h2/Replaces;";

  /**
   * The classes of which H2 makes objects, and those of which it makes objects instead. Hash tables
   * keep the order in which keys came: the order of hashes that are identities is that of
   * addresses.
   */
  private static final Map<String, String> TYPES =
      Map.of(
          Type.getInternalName(HashMap.class), Type.getInternalName(LinkedHashMap.class),
          Type.getInternalName(HashSet.class), Type.getInternalName(LinkedHashSet.class),
          Type.getInternalName(ConcurrentHashMap.class), Type.getInternalName(OrderedMap.class));

  /** A method as a call names it, in one class of H2 or, if that is empty, in all. */
  private record Call(String owner, String name, String descriptor, String in) {}

  private final Map<Call, Handle> calls = new HashMap<>();

  private Replacements() {}

  static Replacements read() throws IOException {
    Replacements found = new Replacements();
    for (Class<?> replacing : REPLACING) {
      String file = "/" + Type.getInternalName(replacing) + ".class";
      try (InputStream in = replacing.getResourceAsStream(file)) {
        new ClassReader(Objects.requireNonNull(in, file).readAllBytes())
            .accept(found.new Methods(Type.getInternalName(replacing)), ClassReader.SKIP_CODE);
      }
    }
    return found;
  }

  /** The static method to call instead, or null. */
  @Nullable Handle ofCall(String inClass, String owner, String name, String descriptor) {
    Handle everywhere = calls.get(new Call(owner, name, descriptor, ""));
    return everywhere != null ? everywhere : calls.get(new Call(owner, name, descriptor, inClass));
  }

  /** The class of which to make an object instead, or null. */
  static @Nullable String ofType(String type) {
    return TYPES.get(type);
  }

  private final class Methods extends ClassVisitor {
    private final String owner;

    Methods(String owner) {
      super(Opcodes.ASM9);
      this.owner = owner;
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
        public @Nullable AnnotationVisitor visitAnnotation(String type, boolean visible) {
          return type.equals(ANNOTATION)
              ? new Mark(new Handle(Opcodes.H_INVOKESTATIC, owner, name, descriptor, false))
              : null;
        }
      };
    }
  }

  private final class Mark extends AnnotationVisitor {
    private final Handle instead;
    private final Map<String, Object> values = new HashMap<>();

    Mark(Handle instead) {
      super(Opcodes.ASM9);
      this.instead = instead;
    }

    @Override
    public void visit(String name, Object value) {
      values.put(name, value);
    }

    @Override
    public void visitEnd() {
      String descriptor = instead.getDesc();
      if (!(boolean) values.getOrDefault("isStatic", false)) {
        Type[] all = Type.getArgumentTypes(descriptor);
        Type[] rest = Arrays.copyOfRange(all, 1, all.length);
        descriptor = Type.getMethodDescriptor(Type.getReturnType(descriptor), rest);
      }
      calls.put(
          new Call(
              internal(values.get("of")),
              (String) values.getOrDefault("method", instead.getName()),
              descriptor,
              internal(values.getOrDefault("in", ""))),
          instead);
    }

    private static String internal(@Nullable Object name) {
      return String.valueOf(name).replace('.', '/');
    }
  }
}

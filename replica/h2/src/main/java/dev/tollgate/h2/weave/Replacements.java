package dev.tollgate.h2.weave;

import dev.tollgate.h2.CatalogChanges;
import dev.tollgate.h2.CatalogRows;
import dev.tollgate.h2.ChargedArrays;
import dev.tollgate.h2.ChargedNumbers;
import dev.tollgate.h2.ChargedTexts;
import dev.tollgate.h2.ComparedValues;
import dev.tollgate.h2.JsonParts;
import dev.tollgate.h2.Limited;
import dev.tollgate.h2.Meter;
import dev.tollgate.h2.OrderedMap;
import dev.tollgate.h2.Reproducible;
import dev.tollgate.h2.SearchKeys;
import dev.tollgate.h2.StoredValues;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
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
  private static final String REPLACES = "Ldev/tollgate/h2/Replaces;";
  private static final String PASSES = "Ldev/tollgate/h2/Passes;";
  private static final String ALL_PASSES = "Ldev/tollgate/h2/Passes$All;";

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
  private final Map<Call, Handle> arguments = new HashMap<>();

  private Replacements() {}

  /** What every class calls that is rewritten. */
  static Replacements ofAll() throws IOException {
    return read(List.of(Reproducible.class, CatalogChanges.class, ComparedValues.class));
  }

  /** What classes of the storage call. */
  static Replacements ofStorage() throws IOException {
    return read(List.of(Reproducible.class, CatalogChanges.class, StoredValues.class));
  }

  /** What classes call whose work is counted. */
  static Replacements ofCounted() throws IOException {
    return read(
        List.of(
            Reproducible.class,
            CatalogChanges.class,
            CatalogRows.class,
            ComparedValues.class,
            Meter.class,
            ChargedTexts.class,
            ChargedNumbers.class,
            Limited.class,
            SearchKeys.class,
            JsonParts.class,
            ChargedArrays.class));
  }

  private static Replacements read(List<Class<?>> all) throws IOException {
    Replacements found = new Replacements();
    for (Class<?> replacing : all) {
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
    Handle here = calls.get(new Call(owner, name, descriptor, inClass));
    return here != null ? here : calls.get(new Call(owner, name, descriptor, ""));
  }

  /** The static method through which to pass the last argument of a constructor, or null. */
  @Nullable Handle ofArgument(String type, String descriptor) {
    return arguments.get(new Call(type, "<init>", descriptor, ""));
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
          Handle instead = new Handle(Opcodes.H_INVOKESTATIC, owner, name, descriptor, false);
          return switch (type) {
            case REPLACES -> new Mark(instead);
            case PASSES, ALL_PASSES -> new Passage(instead);
            default -> null;
          };
        }
      };
    }
  }

  private final class Mark extends AnnotationVisitor {
    private final Handle instead;
    private final List<String> owners = new ArrayList<>();
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
    public AnnotationVisitor visitArray(String name) {
      return new AnnotationVisitor(Opcodes.ASM9) {
        @Override
        public void visit(@Nullable String none, Object value) {
          owners.add(internal(value));
        }
      };
    }

    @Override
    public void visitEnd() {
      String descriptor = instead.getDesc();
      if (!(boolean) values.getOrDefault("isStatic", false)) {
        Type[] all = Type.getArgumentTypes(descriptor);
        Type[] rest = Arrays.copyOfRange(all, 1, all.length);
        descriptor = Type.getMethodDescriptor(Type.getReturnType(descriptor), rest);
      }
      String method = (String) values.getOrDefault("method", instead.getName());
      String in = internal(values.getOrDefault("in", ""));
      for (String owner : owners) {
        calls.put(new Call(owner, method, descriptor, in), instead);
      }
    }

    private static String internal(Object name) {
      return name.toString().replace('.', '/');
    }
  }

  /** One constructor, or an array of them within the annotation that has several. */
  private final class Passage extends AnnotationVisitor {
    private final Handle through;

    Passage(Handle through) {
      super(Opcodes.ASM9);
      this.through = through;
    }

    @Override
    public void visit(String name, Object value) {
      String parameters =
          Type.getMethodDescriptor(Type.VOID_TYPE, Type.getArgumentTypes(through.getDesc()));
      arguments.put(
          new Call(value.toString().replace('.', '/'), "<init>", parameters, ""), through);
    }

    @Override
    public AnnotationVisitor visitArray(String name) {
      return this;
    }

    @Override
    public AnnotationVisitor visitAnnotation(@Nullable String name, String type) {
      return this;
    }
  }
}

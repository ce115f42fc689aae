package dev.tollgate.h2;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.Handle;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/**
 * Finds the places in compiled classes where the Java runtime may answer otherwise in another
 * process: clocks, random numbers, identities, orders of hash tables, references that the collector
 * clears, threads, the default locale, charset and zone, properties, files, the memory and the
 * processors there are.
 */
public final class RuntimeCalls {
  private static final String NO_PLACE = "no place for: ";

  private static final Pattern SUSPECT =
      Pattern.compile(
          String.join(
              "|",
              "java/lang/System\\.(nanoTime|currentTimeMillis|identityHashCode|getProperty|getenv)\\b.*",
              "java/lang/Object\\.hashCode\\(.*",
              "java/lang/(Thread|ThreadGroup|Runtime|ProcessHandle|ProcessBuilder|Class)\\.(?!getName|getSimpleName|isInstance|cast|equals|toString|getComponentType|isArray|getClassLoader|desiredAssertionStatus|<clinit>|isAssignableFrom|getEnumConstants|hashCode|getResource|getPackage|currentThread).*",
              "java/lang/Math\\.random\\(.*",
              "java/lang/(Integer|Long|Boolean)\\.get(Integer|Long|Boolean)\\(.*",
              "java/lang/String\\.(getBytes\\(\\).*|toUpperCase\\(\\).*|toLowerCase\\(\\).*|format\\(Ljava/lang/String;.*|<init>\\(\\[B(II)?\\)V)",
              "java/lang/ref/\\w*Reference\\.<init>\\(.*",
              "java/time/\\w*(Clock|Instant|LocalDate|LocalTime|LocalDateTime|OffsetDateTime|ZonedDateTime|Year)\\.(now|system\\w*)\\(.*",
              "java/time/ZoneId\\.systemDefault\\(.*",
              "java/util/(Locale|TimeZone)\\.getDefault\\(.*",
              "java/util/(Date|GregorianCalendar)\\.<init>\\(\\)V",
              "java/util/Calendar\\.getInstance\\(.*",
              "java/util/UUID\\.randomUUID\\(.*",
              "java/util/(Random|SplittableRandom)\\..*",
              "java/util/concurrent/ThreadLocalRandom\\..*",
              "java/security/SecureRandom\\..*",
              "org/h2/util/MathUtils\\.(secureRandom\\w*|random\\w*|getSecureRandom)\\(.*",
              "java/util/(HashMap|HashSet|IdentityHashMap|WeakHashMap|Hashtable)\\.<init>\\(.*",
              "java/util/concurrent/ConcurrentHashMap\\.<init>\\(.*",
              "java/util/(Set|Map)\\.(of|copyOf|ofEntries)\\(.*",
              "java/util/stream/Collectors\\.(toSet|toMap|groupingBy|toUnmodifiable\\w*|partitioningBy)\\w*\\(.*",
              "java/util/stream/.*[pP]arallel.*",
              "java/util/concurrent/(Executors|ThreadPoolExecutor|ForkJoinPool|CompletableFuture)\\..*",
              "java/nio/charset/Charset\\.defaultCharset\\(.*",
              "java/io/(InputStreamReader\\.<init>\\(Ljava/io/InputStream;\\)V|OutputStreamWriter\\.<init>\\(Ljava/io/OutputStream;\\)V|FileReader\\.<init>.*|FileWriter\\.<init>.*)",
              "java/io/(File|FileInputStream|FileOutputStream|RandomAccessFile)\\.<init>\\(.*",
              "java/nio/file/Files\\..*",
              "java/net/.*",
              "java/text/\\w+\\.(getInstance\\(\\).*|get\\w+Instance\\(\\).*|<init>\\(Ljava/lang/String;\\)V)",
              "java/util/Currency\\.getSymbol\\(\\).*",
              "java/lang/management/.*"));

  /** A place and a call, of which each may end in a star, and a reason. */
  private record Allowed(String place, String call, String line) {
    static Allowed of(String line) {
      String[] words = line.split(" ", 3);
      return new Allowed(words[0], words[1], line);
    }

    boolean fits(String found) {
      String[] words = found.split(" ", 2);
      return fits(place, words[0]) && fits(call, words[1]);
    }

    private static boolean fits(String pattern, String name) {
      return pattern.endsWith("*")
          ? name.startsWith(pattern.substring(0, pattern.length() - 1))
          : name.equals(pattern);
    }
  }

  private RuntimeCalls() {}

  /**
   * Compares the places in some classes with a list that has a reason for each.
   *
   * @param reasons lines of a place, a call and a reason
   * @return places without a reason, and reasons without a place; empty if there are none
   */
  public static SortedSet<String> differences(List<Path> directories, Path reasons)
      throws IOException {
    List<Allowed> allowed = new ArrayList<>();
    for (String line : Files.readAllLines(reasons)) {
      if (!line.isBlank() && !line.startsWith("#")) {
        allowed.add(Allowed.of(line));
      }
    }
    SortedSet<String> differences = new TreeSet<>();
    allowed.forEach(line -> differences.add(NO_PLACE + line.line()));
    for (Path directory : directories) {
      for (String place : in(directory)) {
        boolean known = false;
        for (Allowed line : allowed) {
          if (line.fits(place)) {
            known = true;
            differences.remove(NO_PLACE + line.line());
          }
        }
        if (!known) {
          differences.add("no reason for: " + place);
        }
      }
    }
    return differences;
  }

  /** Lines such as {@code org/h2/util/Utils.getMemoryMax java/lang/Runtime.maxMemory}. */
  private static SortedSet<String> in(Path directory) throws IOException {
    SortedSet<String> found = new TreeSet<>();
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file :
          (Iterable<Path>) files.filter(path -> path.toString().endsWith(".class"))::iterator) {
        ClassReader reader = new ClassReader(Files.readAllBytes(file));
        reader.accept(new Calls(reader.getClassName(), found), ClassReader.SKIP_FRAMES);
      }
    }
    return found;
  }

  private static final class Calls extends ClassVisitor {
    private final String type;
    private final SortedSet<String> found;

    Calls(String type, SortedSet<String> found) {
      super(Opcodes.ASM9);
      this.type = type;
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
          if (SUSPECT.matcher(owner + "." + name + called).matches()) {
            found.add(type + "." + method + " " + owner + "." + name);
          }
        }
      };
    }
  }
}

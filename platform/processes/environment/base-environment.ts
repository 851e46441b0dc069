/** What programs need to run at all. Nothing of it is a secret. */
const systemVariables =
  /^(PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_[A-Z]+|TZ|TMPDIR|TMP|TEMP|TERM|COLORTERM|NO_COLOR|FORCE_COLOR|XDG_[A-Z_]+|NODE_(ENV|OPTIONS|PATH|EXTRA_CA_CERTS|NO_WARNINGS|DISABLE_COLORS|COMPILE_CACHE|V8_COVERAGE)|UV_THREADPOOL_SIZE|LD_LIBRARY_PATH|LD_PRELOAD|MALLOC_[A-Z_]+|SSL_CERT_FILE|SSL_CERT_DIR)$/;

export const isSystemVariable = (name: string): boolean => systemVariables.test(name);

/** The part of an environment that a program gets which is not to know anything else of it. */
export const baseEnvironment = (source: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(source).filter(([name]) => isSystemVariable(name)));

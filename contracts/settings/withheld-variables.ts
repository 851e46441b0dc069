/**
 * Variables of the service itself, by the names its settings have: their values are for no program it starts. The file of a
 * secret, `<NAME>_FILE`, has the same prefix. A test compares this with everything that is read from the environment.
 */
const ownVariables =
  /^(?:BOARD_|RUNBOARD_|MONGODB_|TEMPORAL_|BITMAP_|WORKFLOW_RUNS_|PLANTS_|RATE_LIMIT_|OTEL_(?:EXPORTER_OTLP_(?:ENDPOINT|HEADERS)|TRACES_SAMPLER_ARG|BSP_SCHEDULE_DELAY)(?:_FILE)?$|SERVICES(?:_FILE)?$|LOG_LEVEL$|NODE_ENV$)/;

/**
 * Variables that make a program load or run something else than its command: the service's values are meant for the service.
 * Interpreters' paths and options are among them; certificates and proxies are not.
 */
const loaderVariables =
  /^(?:LD_.*|DYLD_.*|GCONV_PATH|NODE_OPTIONS|NODE_PATH|NODE_CHANNEL_FD|NODE_REPL_EXTERNAL_MODULE|BASH_ENV|BASH_FUNC_.*|ENV|IFS|PS4|SHELLOPTS|BASHOPTS|PROMPT_COMMAND|ZDOTDIR|PYTHON(?:PATH|HOME|STARTUP|INSPECT|BREAKPOINT)|PERL5(?:LIB|OPT|DB)|RUBY(?:OPT|LIB)|JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|JDK_JAVA_OPTIONS|PHP_INI_SCAN_DIR|PHPRC)$/;

/** What git reads from its environment, but for who makes a commit: settings, directories and programs to run. */
const gitVariables = /^GIT_(?!(?:AUTHOR|COMMITTER)_(?:NAME|EMAIL)$)/;

/** Why no agent gets the variable of this name; `undefined` when one may be. */
export function withheldBecause(name: string): string | undefined {
  if (ownVariables.test(name)) {
    return 'is a setting of the service';
  }
  if (loaderVariables.test(name)) {
    return 'changes what programs load or run';
  }
  return gitVariables.test(name) ? 'changes what git does' : undefined;
}

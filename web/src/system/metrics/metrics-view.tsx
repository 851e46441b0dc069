export function MetricsView() {
  return null;
}

/** The embedded cluster of a command, and the packages that only development needs. */
export {
  KUBELETS,
  type KubeletChoice,
  type LocalClusterOptions,
  shellWord,
  startLocalCluster,
} from "./local-cluster.ts";
export {
  type ChaosEvent,
  type ChaosProxy,
  type ChaosRequest,
  type ChaosRule,
  type ClusterPackage,
  type ConsoleServer,
  type EmbeddedCluster,
  type FieldProblem,
  type ImportAlone,
  importAlone,
  importCluster,
  importConsole,
  importTesting,
  type ObjectJudge,
  type TestingPackage,
} from "./optional-packages.ts";

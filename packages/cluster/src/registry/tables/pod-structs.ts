/**
 * The structs of a pod's spec as the server has them inside, in the order of their fields: the name, the name in JSON where
 * it is not the same with a small letter, and the type. `s`, `b` and `i` are texts, flags and numbers, which are never
 * absent; `n` is null when it is; `*` and `[` are pointers to structs and lists of them; `?` is left out when it is empty.
 * Made from the types of k8s.io/kubernetes/pkg/apis/core, v1.36.3, beside those of k8s.io/api/core/v1.
 */
export const podStructs = `
AWSElasticBlockStoreVolumeSource VolumeID=s FSType/fsType=s Partition=i ReadOnly=b
Affinity NodeAffinity=*NodeAffinity PodAffinity=*PodAffinity PodAntiAffinity=*PodAntiAffinity
AppArmorProfile Type=s LocalhostProfile=n
AzureDiskVolumeSource DiskName=s DataDiskURI/diskURI=s CachingMode=n FSType/fsType=n ReadOnly=n Kind=n
AzureFileVolumeSource SecretName=s ShareName=s ReadOnly=b
CSIVolumeSource Driver=s ReadOnly=n FSType/fsType=n VolumeAttributes=n NodePublishSecretRef=*LocalObjectReference
Capabilities Add=n Drop=n
CephFSVolumeSource Monitors=n Path=s User=s SecretFile=s SecretRef=*LocalObjectReference ReadOnly=b
CinderVolumeSource VolumeID=s FSType/fsType=s ReadOnly=b SecretRef=*LocalObjectReference
ClusterTrustBundleProjection Name=n SignerName=n LabelSelector=n Optional=n Path=s
ConfigMapEnvSource Name=s Optional=n
ConfigMapKeySelector Name=s Key=s Optional=n
ConfigMapProjection Name=s Items=[KeyToPath Optional=n
ConfigMapVolumeSource Name=s Items=[KeyToPath DefaultMode=n Optional=n
Container Name=s Image=s Command=n Args=n WorkingDir=s Ports=[ContainerPort EnvFrom=[EnvFromSource Env=[EnvVar Resources=ResourceRequirements ResizePolicy=[ContainerResizePolicy RestartPolicy=n RestartPolicyRules=[ContainerRestartRule VolumeMounts=[VolumeMount VolumeDevices=[VolumeDevice LivenessProbe=*Probe ReadinessProbe=*Probe StartupProbe=*Probe Lifecycle=*Lifecycle TerminationMessagePath=s TerminationMessagePolicy=s ImagePullPolicy=s SecurityContext=*SecurityContext Stdin=b StdinOnce=b TTY/tty=b
ContainerPort Name=s HostPort=i ContainerPort=i Protocol=s HostIP=s
ContainerResizePolicy ResourceName=s RestartPolicy=s
ContainerRestartRule Action=s ExitCodes=*ContainerRestartRuleOnExitCodes
ContainerRestartRuleOnExitCodes Operator=s Values=n
DownwardAPIProjection Items=[DownwardAPIVolumeFile
DownwardAPIVolumeFile Path=s FieldRef=*ObjectFieldSelector ResourceFieldRef=*ResourceFieldSelector Mode=n
DownwardAPIVolumeSource Items=[DownwardAPIVolumeFile DefaultMode=n
EmptyDirVolumeSource Medium=s SizeLimit=n
EnvFromSource Prefix=s ConfigMapRef=*ConfigMapEnvSource SecretRef=*SecretEnvSource
EnvVar Name=s Value=s ValueFrom=*EnvVarSource
EnvVarSource FieldRef=*ObjectFieldSelector ResourceFieldRef=*ResourceFieldSelector ConfigMapKeyRef=*ConfigMapKeySelector SecretKeyRef=*SecretKeySelector FileKeyRef=*FileKeySelector
EphemeralContainer Name=s Image=s Command=n Args=n WorkingDir=s Ports=[ContainerPort EnvFrom=[EnvFromSource Env=[EnvVar Resources=ResourceRequirements ResizePolicy=[ContainerResizePolicy RestartPolicy=n RestartPolicyRules=[ContainerRestartRule VolumeMounts=[VolumeMount VolumeDevices=[VolumeDevice LivenessProbe=*Probe ReadinessProbe=*Probe StartupProbe=*Probe Lifecycle=*Lifecycle TerminationMessagePath=s TerminationMessagePolicy=s ImagePullPolicy=s SecurityContext=*SecurityContext Stdin=b StdinOnce=b TTY/tty=b TargetContainerName=s
EphemeralVolumeSource VolumeClaimTemplate=*PersistentVolumeClaimTemplate
ExecAction Command=n
FCVolumeSource TargetWWNs=n Lun=n FSType/fsType=s ReadOnly=b WWIDs/wwids=n
FileKeySelector VolumeName=s Path=s Key=s Optional=n
FlexVolumeSource Driver=s FSType/fsType=s SecretRef=*LocalObjectReference ReadOnly=b Options=n
FlockerVolumeSource DatasetName=s DatasetUUID=s
GCEPersistentDiskVolumeSource PDName/pdName=s FSType/fsType=s Partition=i ReadOnly=b
GRPCAction Port=i Service=n
GitRepoVolumeSource Repository=s Revision=s Directory=s
GlusterfsVolumeSource EndpointsName/endpoints=s Path=s ReadOnly=b
HTTPGetAction Path=s Port=n Host=s Scheme=s HTTPHeaders/httpHeaders=[HTTPHeader
HTTPHeader Name=s Value=s
HostAlias IP/ip=s Hostnames=n
HostPathVolumeSource Path=s Type=n
ISCSIVolumeSource TargetPortal=s IQN/iqn=s Lun=i ISCSIInterface/iscsiInterface=s FSType/fsType=s ReadOnly=b Portals=n DiscoveryCHAPAuth/chapAuthDiscovery=b SessionCHAPAuth/chapAuthSession=b SecretRef=*LocalObjectReference InitiatorName=n
ImageVolumeSource Reference=s PullPolicy=s
KeyToPath Key=s Path=s Mode=n
Lifecycle PostStart=*LifecycleHandler PreStop=*LifecycleHandler StopSignal=n
LifecycleHandler Exec=*ExecAction HTTPGet/httpGet=*HTTPGetAction TCPSocket/tcpSocket=*TCPSocketAction Sleep=*SleepAction
LocalObjectReference Name=s
NFSVolumeSource Server=s Path=s ReadOnly=b
NodeAffinity RequiredDuringSchedulingIgnoredDuringExecution=*NodeSelector PreferredDuringSchedulingIgnoredDuringExecution=[PreferredSchedulingTerm
NodeSelector NodeSelectorTerms=[NodeSelectorTerm
NodeSelectorRequirement Key=s Operator=s Values=n
NodeSelectorTerm MatchExpressions=[NodeSelectorRequirement MatchFields=[NodeSelectorRequirement
ObjectFieldSelector APIVersion/apiVersion=s FieldPath=s
PersistentVolumeClaimSpec AccessModes=n Selector=n Resources=VolumeResourceRequirements VolumeName=s StorageClassName=n VolumeMode=n DataSource=*TypedLocalObjectReference DataSourceRef=*TypedObjectReference VolumeAttributesClassName=n
PersistentVolumeClaimTemplate name=?s generateName=?s namespace=?s selfLink=?s uid=?s resourceVersion=?s generation=?i creationTimestamp=?n deletionTimestamp=?n deletionGracePeriodSeconds=?n labels=?n annotations=?n ownerReferences=?n finalizers=?n managedFields=?n Spec=PersistentVolumeClaimSpec
PersistentVolumeClaimVolumeSource ClaimName=s ReadOnly=b
PhotonPersistentDiskVolumeSource PdID=s FSType/fsType=s
PodAffinity RequiredDuringSchedulingIgnoredDuringExecution=[PodAffinityTerm PreferredDuringSchedulingIgnoredDuringExecution=[WeightedPodAffinityTerm
PodAffinityTerm LabelSelector=n Namespaces=n TopologyKey=s NamespaceSelector=n MatchLabelKeys=n MismatchLabelKeys=n
PodAntiAffinity RequiredDuringSchedulingIgnoredDuringExecution=[PodAffinityTerm PreferredDuringSchedulingIgnoredDuringExecution=[WeightedPodAffinityTerm
PodCertificateProjection SignerName=s KeyType=s MaxExpirationSeconds=n CredentialBundlePath=s KeyPath=s CertificateChainPath=s UserAnnotations=n
PodDNSConfig Nameservers=n Searches=n Options=[PodDNSConfigOption
PodDNSConfigOption Name=s Value=n
PodOS Name=s
PodReadinessGate ConditionType=s
PodResourceClaim Name=s ResourceClaimName=n ResourceClaimTemplateName=n
PodSchedulingGate Name=s
PodSchedulingGroup PodGroupName=n
PodSecurityContext HostNetwork=b HostPID=b HostIPC=b ShareProcessNamespace=n HostUsers=n SELinuxOptions/seLinuxOptions=*SELinuxOptions WindowsOptions=*WindowsSecurityContextOptions RunAsUser=n RunAsGroup=n RunAsNonRoot=n SupplementalGroups=n SupplementalGroupsPolicy=n FSGroup/fsGroup=n FSGroupChangePolicy/fsGroupChangePolicy=n Sysctls=[Sysctl SeccompProfile=*SeccompProfile AppArmorProfile=*AppArmorProfile SELinuxChangePolicy/seLinuxChangePolicy=n
PodSpec Volumes=[Volume InitContainers=[Container Containers=[Container EphemeralContainers=[EphemeralContainer RestartPolicy=s TerminationGracePeriodSeconds=n ActiveDeadlineSeconds=n DNSPolicy/dnsPolicy=s NodeSelector=n ServiceAccountName=s AutomountServiceAccountToken=n NodeName=s SecurityContext=*PodSecurityContext ImagePullSecrets=[LocalObjectReference Hostname=s Subdomain=s SetHostnameAsFQDN=n Affinity=*Affinity SchedulerName=s Tolerations=[Toleration HostAliases=[HostAlias PriorityClassName=s Priority=n PreemptionPolicy=n DNSConfig/dnsConfig=*PodDNSConfig ReadinessGates=[PodReadinessGate RuntimeClassName=n Overhead=n EnableServiceLinks=n TopologySpreadConstraints=[TopologySpreadConstraint OS/os=*PodOS SchedulingGates=[PodSchedulingGate ResourceClaims=[PodResourceClaim Resources=*ResourceRequirements HostnameOverride=n SchedulingGroup=*PodSchedulingGroup
PortworxVolumeSource VolumeID=s FSType/fsType=s ReadOnly=b
PreferredSchedulingTerm Weight=i Preference=NodeSelectorTerm
Probe Exec=*ExecAction HTTPGet/httpGet=*HTTPGetAction TCPSocket/tcpSocket=*TCPSocketAction GRPC/grpc=*GRPCAction InitialDelaySeconds=i TimeoutSeconds=i PeriodSeconds=i SuccessThreshold=i FailureThreshold=i TerminationGracePeriodSeconds=n
ProjectedVolumeSource Sources=[VolumeProjection DefaultMode=n
QuobyteVolumeSource Registry=s Volume=s ReadOnly=b User=s Group=s Tenant=s
RBDVolumeSource CephMonitors/monitors=n RBDImage/image=s FSType/fsType=s RBDPool/pool=s RadosUser/user=s Keyring=s SecretRef=*LocalObjectReference ReadOnly=b
ResourceClaim Name=s Request=s
ResourceFieldSelector ContainerName=s Resource=s Divisor=n
ResourceRequirements Limits=n Requests=n Claims=[ResourceClaim
SELinuxOptions User=s Role=s Type=s Level=s
ScaleIOVolumeSource Gateway=s System=s SecretRef=*LocalObjectReference SSLEnabled/sslEnabled=b ProtectionDomain=s StoragePool=s StorageMode=s VolumeName=s FSType/fsType=s ReadOnly=b
SeccompProfile Type=s LocalhostProfile=n
SecretEnvSource Name=s Optional=n
SecretKeySelector Name=s Key=s Optional=n
SecretProjection Name=s Items=[KeyToPath Optional=n
SecretVolumeSource SecretName=s Items=[KeyToPath DefaultMode=n Optional=n
SecurityContext Capabilities=*Capabilities Privileged=n SELinuxOptions/seLinuxOptions=*SELinuxOptions WindowsOptions=*WindowsSecurityContextOptions RunAsUser=n RunAsGroup=n RunAsNonRoot=n ReadOnlyRootFilesystem=n AllowPrivilegeEscalation=n ProcMount=n SeccompProfile=*SeccompProfile AppArmorProfile=*AppArmorProfile
ServiceAccountTokenProjection Audience=s ExpirationSeconds=i Path=s
SleepAction Seconds=i
StorageOSVolumeSource VolumeName=s VolumeNamespace=s FSType/fsType=s ReadOnly=b SecretRef=*LocalObjectReference
Sysctl Name=s Value=s
TCPSocketAction Port=n Host=s
Toleration Key=s Operator=s Value=s Effect=s TolerationSeconds=n
TopologySpreadConstraint MaxSkew=i TopologyKey=s WhenUnsatisfiable=s LabelSelector=n MinDomains=n NodeAffinityPolicy=n NodeTaintsPolicy=n MatchLabelKeys=n
TypedLocalObjectReference APIGroup/apiGroup=n Kind=s Name=s
TypedObjectReference APIGroup/apiGroup=n Kind=s Name=s Namespace=n
Volume Name=s HostPath=*HostPathVolumeSource EmptyDir=*EmptyDirVolumeSource GCEPersistentDisk/gcePersistentDisk=*GCEPersistentDiskVolumeSource AWSElasticBlockStore/awsElasticBlockStore=*AWSElasticBlockStoreVolumeSource GitRepo=*GitRepoVolumeSource Secret=*SecretVolumeSource NFS/nfs=*NFSVolumeSource ISCSI/iscsi=*ISCSIVolumeSource Glusterfs=*GlusterfsVolumeSource PersistentVolumeClaim=*PersistentVolumeClaimVolumeSource RBD/rbd=*RBDVolumeSource Quobyte=*QuobyteVolumeSource FlexVolume=*FlexVolumeSource Cinder=*CinderVolumeSource CephFS/cephfs=*CephFSVolumeSource Flocker=*FlockerVolumeSource DownwardAPI=*DownwardAPIVolumeSource FC/fc=*FCVolumeSource AzureFile=*AzureFileVolumeSource ConfigMap=*ConfigMapVolumeSource VsphereVolume=*VsphereVirtualDiskVolumeSource AzureDisk=*AzureDiskVolumeSource PhotonPersistentDisk=*PhotonPersistentDiskVolumeSource Projected=*ProjectedVolumeSource PortworxVolume=*PortworxVolumeSource ScaleIO=*ScaleIOVolumeSource StorageOS/storageos=*StorageOSVolumeSource CSI/csi=*CSIVolumeSource Ephemeral=*EphemeralVolumeSource Image=*ImageVolumeSource
VolumeDevice Name=s DevicePath=s
VolumeMount Name=s ReadOnly=b RecursiveReadOnly=n MountPath=s SubPath=s MountPropagation=n SubPathExpr=s
VolumeProjection Secret=*SecretProjection DownwardAPI=*DownwardAPIProjection ConfigMap=*ConfigMapProjection ServiceAccountToken=*ServiceAccountTokenProjection ClusterTrustBundle=*ClusterTrustBundleProjection PodCertificate=*PodCertificateProjection
VolumeResourceRequirements Limits=n Requests=n
VsphereVirtualDiskVolumeSource VolumePath=s FSType/fsType=s StoragePolicyName=s StoragePolicyID=s
WeightedPodAffinityTerm Weight=i PodAffinityTerm=PodAffinityTerm
WindowsSecurityContextOptions GMSACredentialSpecName/gmsaCredentialSpecName=n GMSACredentialSpec/gmsaCredentialSpec=n RunAsUserName=n HostProcess=n
`;

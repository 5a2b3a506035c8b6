package wire

// UsageReply is the content of a usage_reply (control; ipykernel's, which
// jupyter-resource-usage shows). Memory is in bytes, CPU in percent of one
// processor since the usage_request before, 0 at the first.
type UsageReply struct {
	Status            string        `json:"status"`
	Hostname          string        `json:"hostname"`
	PID               int           `json:"pid"`
	KernelCPU         float64       `json:"kernel_cpu"`
	KernelMemory      int64         `json:"kernel_memory"` // of all its processes
	CPUCount          int           `json:"cpu_count"`
	HostCPUPercent    float64       `json:"host_cpu_percent"` // of all processors
	HostVirtualMemory VirtualMemory `json:"host_virtual_memory"`
}

// VirtualMemory is the machine's memory, in bytes.
type VirtualMemory struct {
	Total     int64   `json:"total"`
	Available int64   `json:"available"`
	Used      int64   `json:"used"`
	Free      int64   `json:"free"`
	Percent   float64 `json:"percent"`
}
